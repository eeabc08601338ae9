/** Values of the access control forms: lists of visitors, and new passwords. Pure: tested without a browser. */

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const LOCAL_PART = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const MAX_DOMAIN = 253;
const MAX_ADDRESS = 254;
/** Of both lists together. */
const MAX_ENTRIES = 100;

export interface VisitorLists {
  readonly allowed_domains: readonly string[];
  readonly allowed_emails: readonly string[];
}

type Faults = Partial<Record<keyof VisitorLists, string>>;

/** `@Example.com` → `example.com`; each once. */
export function tidyDomains(entries: readonly string[]): string[] {
  return tidy(split(entries).map((entry) => entry.replace(/^@/, '')));
}

export function tidyEmails(entries: readonly string[]): string[] {
  return tidy(split(entries));
}

/** By field; none where all is well. */
export function listFaults({ allowed_domains: domains, allowed_emails: emails }: VisitorLists): Faults {
  if (domains.length + emails.length === 0)
    return { allowed_domains: 'Add at least one domain or email address. All other visitors are blocked.' };
  if (domains.length + emails.length > MAX_ENTRIES)
    return { allowed_domains: `Enter at most ${MAX_ENTRIES} domains and email addresses in total.` };
  const [domain, email] = [domains.find((one) => !isDomain(one)), emails.find((one) => !isEmail(one))];
  return {
    ...(domain === undefined
      ? {}
      : { allowed_domains: `${domain} is not a domain. Enter the part after the @, such as example.com.` }),
    ...(email === undefined ? {} : { allowed_emails: `${email} is not an ASCII email address.` }),
  };
}

/** What was put in at once may be many. */
function split(entries: readonly string[]): string[] {
  return entries.flatMap((entry) => entry.split(/[\s,;]+/));
}

function tidy(entries: readonly string[]): string[] {
  return [...new Set(entries.map((entry) => entry.toLowerCase()).filter((entry) => entry !== ''))];
}

function isDomain(text: string): boolean {
  return text.length <= MAX_DOMAIN && DOMAIN.test(text);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && text.length <= MAX_ADDRESS && LOCAL_PART.test(text.slice(0, at)) && isDomain(text.slice(at + 1));
}

const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 24;

/** A random password: 24 characters, none of which is taken for another when it is read out; about 130 bits. */
export function newPassword(): string {
  let password = '';
  // What would make some characters likelier than others is thrown away.
  const fair = 256 - (256 % ALPHABET.length);
  while (password.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      if (byte < fair && password.length < LENGTH) password += ALPHABET[byte % ALPHABET.length] ?? '';
    }
  }
  return password;
}
