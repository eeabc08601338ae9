/**
 * Debian's packages for the programs that tests use (packages.json, which .ci/run reads too): for the line that says how to add what was missing.
 */
import packages from './packages.json' with { type: 'json' };

/** Each package once, in order; a program that no package is known for stands for itself. */
export function packagesFor(programs: readonly string[]): string[] {
  const known: Readonly<Record<string, readonly string[]>> = packages;
  return [...new Set(programs.flatMap((program) => known[program] ?? [program]))].sort();
}
