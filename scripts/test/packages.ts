/**
 * Debian's packages for the programs that tests use: for the line that says how to add what was missing. .ci/run installs those of packages.json;
 * packages-slow.json has what the group `slow` uses alone.
 */
import packages from './packages.json' with { type: 'json' };
import slow from './packages-slow.json' with { type: 'json' };

/** Each package once, in order; a program that no package is known for stands for itself. */
export function packagesFor(programs: readonly string[]): string[] {
  const known: Readonly<Record<string, readonly string[]>> = { ...packages, ...slow };
  return [...new Set(programs.flatMap((program) => known[program] ?? [program]))].sort();
}
