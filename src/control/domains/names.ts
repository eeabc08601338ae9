/** Which names can be custom domains, and how they are written in the tables. Pure; used by service.ts. */
import { domainToASCII } from 'node:url';
import { isHostName } from '../../base/net/addr.ts';
import { AppError } from '../../base/errors.ts';

/** Where the TXT record of a domain stands. */
const CHALLENGE = '_tunnel-challenge.';
/** A name in the DNS has at most 253 characters (RFC 1035 §2.3.4), the label of the record included. */
const MAX_LENGTH = 253 - CHALLENGE.length;
/** A character of ASCII that no host name has. Conversion would make something of some of them: `%2e` is a dot to it. */
const NO_HOST = /[\0-,/:-@[-`{-\x7f]/;

export function challengeName(domain: string): string {
  return CHALLENGE + domain;
}

/**
 * A domain as people write it → lower case, in ASCII (UTS #46), without the dot at its end. `own`: hosts of this server, which can't be added
 * with all that is below them. Throws `invalid_domain`.
 */
export function domainFrom(text: string, own: readonly string[]): string {
  if (text.includes('*')) throw invalid(text, 'Wildcards are not supported. Add each name.');
  // A longer text is none in any spelling, and is not worth the conversion.
  const ascii = text.length > 1_000 || NO_HOST.test(text) ? '' : domainToASCII(text);
  const domain = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  if (!isHostName(domain)) throw invalid(text, 'It is not a host name. Use a name such as app.example.com.');
  if (!domain.includes('.')) throw invalid(text, 'A domain has at least two labels, such as example.com.');
  if (domain.length > MAX_LENGTH) throw invalid(text, `A domain has at most ${MAX_LENGTH} characters.`);
  const above = own.find((host) => domain === host || domain.endsWith(`.${host}`));
  if (above !== undefined) throw invalid(text, `${above} and all names below it belong to this server.`);
  return domain;
}

function invalid(text: string, why: string): AppError {
  return new AppError('invalid_domain', `"${text.slice(0, 100)}" can't be a custom domain. ${why}`, {
    details: [{ path: 'domain', message: why }],
  });
}
