/** The order of versions, as semver.org has it. */

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

/** Below zero when `a` is older than `b`, zero when neither is. Undefined when one of them is no version. */
export function compareVersions(a: string, b: string): number | undefined {
  const [one, two] = [VERSION.exec(a), VERSION.exec(b)];
  if (one === null || two === null) return undefined;
  for (const at of [1, 2, 3]) {
    const difference = Number(one[at]) - Number(two[at]);
    if (difference !== 0) return difference;
  }
  return comparePreReleases(one[4], two[4]);
}

/** A candidate is older than its release. */
function comparePreReleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [ones, twos] = [a.split('.'), b.split('.')];
  for (const [at, one] of ones.entries()) {
    const two = twos[at];
    if (two === undefined) return 1;
    const difference = compareParts(one, two);
    if (difference !== 0) return difference;
  }
  return ones.length - twos.length;
}

/** Numbers come before words. */
function compareParts(one: string, two: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(two)];
  if (isNumber && isOtherNumber) return Number(one) - Number(two);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one === two ? 0 : one < two ? -1 : 1;
}
