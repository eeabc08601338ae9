/**
 * The fields of people and organizations that a user chooses, with their rules: the same wherever they are set.
 */
import { z } from '@hono/zod-openapi';
import { UNSEEN_SIGNS } from '../../rules/unseen-signs.ts';
import { text } from './text.ts';

const MIN_PASSWORD = 12;
const MAX_PASSWORD = 256;
const MAX_NAME = 100;

/** A new password: long, and nothing else (NIST SP 800-63B §5.1.1.2 advises against rules of composition). */
export const newPassword = text(MIN_PASSWORD, MAX_PASSWORD).openapi({ format: 'password' });

/** A password that is compared: whatever was accepted once, so there is only a limit. */
export const oldPassword = text(1, 1024).openapi({ format: 'password' });

/**
 * An address to make an account with, as browsers check it: no list of addresses, no display name, and ASCII alone, where case is
 * clear. 254 is what fits into SMTP (RFC 5321 §4.5.3.1.3).
 */
export const newEmail = text(0, 254, {
  pattern: new RegExp(`^\\s*${z.regexes.html5Email.source.slice(1, -1)}\\s*$`),
  says: 'Invalid email address',
  isTrimmed: true,
});

/** An address to look up. One that can't exist is answered like one that does not. */
export const oldEmail = text(1, 320);

const says = 'must be one line of text without invisible characters';

/** The name of a user or an organization: one line, which may be empty. */
export const plainName = text(0, MAX_NAME, {
  pattern: new RegExp(`^\\s*[^${UNSEEN_SIGNS}]*\\s*$`, 'u'),
  says,
  isTrimmed: true,
});

/** A name that is not empty, and without the characters of `not`. */
export function someName(not = '', lacks = says) {
  const pattern = new RegExp(`^\\s*[^${UNSEEN_SIGNS}\\s${not}][^${UNSEEN_SIGNS}${not}]*\\s*$`, 'u');
  return text(1, MAX_NAME, { pattern, says: lacks, isTrimmed: true });
}
