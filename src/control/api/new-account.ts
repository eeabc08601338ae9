/**
 * The fields of people and organizations that somebody chooses, with their rules: the same wherever they are set.
 */
import { z } from '@hono/zod-openapi';
import { UNSEEN_SIGNS } from '../services/accounts/unseen-signs.ts';

const MIN_PASSWORD = 12;
const MAX_PASSWORD = 256;

/**
 * A new password: long, and nothing else (NIST SP 800-63B §5.1.1.2 advises against rules of composition). Counted in characters and not in
 * UTF-16 units, as JSON Schema counts.
 */
export const newPassword = z
  .string()
  .refine((text) => {
    const { length } = Array.from(text);
    return length >= MIN_PASSWORD && length <= MAX_PASSWORD;
  }, `a password has ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`)
  .openapi({ format: 'password', minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD });

/** A password that is compared: whatever was accepted once, so there is only a bound. */
export const oldPassword = z.string().min(1).max(1024).openapi({ format: 'password' });

/**
 * An address to make an account with, as browsers check it: no list of addresses, no display name, and ASCII alone, where letter case is
 * clear. 254 is what fits into SMTP (RFC 5321 §4.5.3.1.3).
 */
export const newEmail = z
  .string()
  .trim()
  .max(254)
  .pipe(z.email({ pattern: z.regexes.html5Email }));

/** An address to look up. One that can't exist is answered like one that does not. */
export const oldEmail = z.string().min(1).max(320);

/** What a person or an organization is called: one line, which may be empty. */
export const plainName = z
  .string()
  .trim()
  .max(100)
  .refine((text) => !UNSEEN_SIGNS.test(text), 'a name is one line of text, without signs that turn or hide others');
