/** Rules for the address and the password of an account, as the server has them. Pure: tested without a browser. */

/** The server's rule for new passwords (control/core/http/fields/new-account.ts). */
export const PASSWORD_RULE = 'At least 12 characters of any kind.';

/** Why the server would not take this password, or null. It counts characters as the server does. */
export function passwordFault(password: string): string | null {
  const { length } = Array.from(password);
  return length >= 12 && length <= 256 ? null : `A password must have 12 to 256 characters. This one has ${length}.`;
}

/** Whether an invitation is for the signed-in user; the server decides all the same, without case. */
export function isSameAddress(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}
