/** Whether an invitation is for whoever is signed in. Pure: tested without a browser; the server decides all the same. */

/** As the server tells addresses apart: it counts no letter case. */
export function isSameAddress(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}
