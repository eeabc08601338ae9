/** Header fields that are hidden until the user asks: others may see the screen. */

/** Names of fields that hold credentials or signatures. */
const SECRET = /key|token|secret|signature|authorization|cookie|password|credential/i;

/** What stands in their place. */
export const COVER = '••••••••';

export function isSecret(name: string): boolean {
  return SECRET.test(name);
}
