/** E-mail addresses and domains of visitors: which are taken for lists and told to services, and which is on a list. */
import type { VisitorLists } from './service.ts';

/** What an HTML form takes for an e-mail address, in ASCII: no quotes, commas or control characters, which headers could be misread by. */
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const NAME = `${LABEL}(?:\\.${LABEL})*`;
/** A domain as it stands behind the `@`. */
export const DOMAIN = new RegExp(`^${NAME}$`);
export const ADDRESS = new RegExp(`^[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${NAME}$`);
export const MAX_DOMAIN = 253;
export const MAX_ADDRESS = 254;

export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS && ADDRESS.test(text);
}

/** Whether the lists name the address itself, or exactly its domain. Case does not count. */
export function isListed(address: string, { allowedDomains, allowedEmails }: VisitorLists): boolean {
  const lower = address.toLowerCase();
  return (
    isAddress(lower) &&
    (allowedEmails.includes(lower) || allowedDomains.includes(lower.slice(lower.lastIndexOf('@') + 1)))
  );
}
