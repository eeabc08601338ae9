/** Programs that something else upgrades: the packages of the system, or an image. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';

/** Where the image of a release has it. */
const IMAGE_PROGRAM = 'usr/bin/culvert';

/** Why `culvert upgrade` must not replace the program, and what to do instead. Undefined when nothing else owns it. */
export function managedBy(program: string, { root, env }: Machine): string | undefined {
  const isContainer = ['.dockerenv', 'run/.containerenv'].some((file) => existsSync(join(root, file)));
  // Elsewhere in a container it was installed by hand.
  if (isContainer && program === join(root, IMAGE_PROGRAM)) {
    return 'this program belongs to a container image. Load the image of the release and recreate the container.';
  }
  const owns = (command: string, ...args: string[]): boolean =>
    // Also false where the package manager is not installed.
    spawnSync(command, args, { stdio: 'ignore', env }).status === 0;
  const file = `culvert-VERSION-linux-${process.arch}`;
  if (owns('dpkg-query', '-S', program)) {
    return `${program} belongs to a Debian package. Upgrade the package: sudo apt install ./${file}.deb`;
  }
  if (owns('rpm', '-qf', program)) {
    return `${program} belongs to an RPM package. Upgrade the package: sudo dnf install ./${file}.rpm`;
  }
  return undefined;
}
