/** The public name that a new tunnel would get, and what is wrong with one: by the rules of the API, shown while the user types. Pure. */

/** A label of DNS (RFC 1035). */
const MAX_LABEL = 63;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

export interface NamingProject {
  readonly slug: string;
  readonly isDefault: boolean;
}

/** What a project puts behind each name; the default one nothing. */
export function suffixOf(project: NamingProject | undefined): string {
  return project === undefined || project.isDefault ? '' : `-${project.slug}`;
}

/** Why the name can't be had, or undefined; an empty one is: the server picks one then. Whether it is taken the server alone knows. */
export function nameFault(name: string, project: NamingProject | undefined): string | undefined {
  if (name === '') return undefined;
  if (/[A-Z]/.test(name)) return 'Use lower case: one name has one spelling.';
  if (/^-|-$/.test(name)) return 'A name neither begins nor ends with a dash.';
  if (!LABEL.test(name)) return 'Use a to z, 0 to 9 and dash.';
  const room = MAX_LABEL - suffixOf(project).length;
  if (name.length <= room) return undefined;
  const behind = room === MAX_LABEL ? '' : ` before ${suffixOf(project)}`;
  return `At most ${Math.max(room, 0)} characters${behind}; these are ${name.length}.`;
}

/** `shop-web.example.com`; with a placeholder while there is no name. */
export function publicName(name: string, project: NamingProject | undefined, edgeDomain: string): string {
  return `${name === '' ? '<random name>' : name}${suffixOf(project)}.${edgeDomain}`;
}
