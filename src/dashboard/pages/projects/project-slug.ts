/** Slugs of projects, and the names that tunnels get by them. Pure: tested without a browser. */

/** As the server has it: a label of a host name. */
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MOST = 63;

export const SLUG_RULE = '1 to 63 characters of a-z, 0-9 and dash, no dash at either end';

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** A slug for a name: "Web shop (new)" → "web-shop-new". Empty when nothing of it can be in one. */
export function slugFrom(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const dashed = plain.replaceAll(/[^a-z0-9]+/g, '-').slice(0, MOST + 1);
  return dashed.replace(/^-+/, '').slice(0, MOST).replace(/-+$/, '');
}

/** The public host of a tunnel `name` in a project. `domain`: of the edge. */
export function hostIn(project: { readonly slug: string; readonly isDefault: boolean }, name: string, domain: string) {
  return `${project.isDefault ? name : `${name}-${project.slug}`}.${domain}`;
}
