/** Whether an invitation is for the signed-in user. Pure; the server decides all the same. */

/** As the server compares addresses: without case. */
export function isSameAddress(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}
