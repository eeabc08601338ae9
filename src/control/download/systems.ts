/** Operating systems of visitors: the programs for each, and the line that installs one. */

/** As archives of a release name them. */
export const PLATFORMS = {
  linux: ['linux-x64', 'linux-arm64'],
  macos: ['darwin-arm64', 'darwin-x64'],
  windows: ['windows-x64'],
} as const;

export type System = keyof typeof PLATFORMS;
export const SYSTEMS = ['linux', 'macos', 'windows'] as const satisfies readonly System[];

/** For people. */
export const SYSTEM_NAMES: Readonly<Record<System, string>> = { linux: 'Linux', macos: 'macOS', windows: 'Windows' };
export const PLATFORM_NAMES: Readonly<Record<string, string>> = {
  'linux-x64': 'Linux x64',
  'linux-arm64': 'Linux arm64',
  'darwin-arm64': 'macOS, Apple silicon',
  'darwin-x64': 'macOS, Intel',
  'windows-x64': 'Windows x64',
};

/** What the lines need besides an archive. */
export const INSTALLERS: Readonly<Record<System, string>> = {
  linux: 'get.sh',
  macos: 'get.sh',
  windows: 'install.ps1',
};

/** The system that a browser names; undefined for phones and all else. */
export function systemOf(userAgent: string): System | undefined {
  if (/Windows NT/i.test(userAgent)) return 'windows';
  if (/iPhone|iPad|Android|CrOS/i.test(userAgent)) return undefined;
  if (/Macintosh|Mac OS X|Darwin/i.test(userAgent)) return 'macos';
  return /Linux/i.test(userAgent) ? 'linux' : undefined;
}

/** The archive that a visitor most likely needs, first. Browsers on a Mac don't say which processor it has. */
export function likelyPlatforms(system: System, userAgent: string): readonly string[] {
  const isArm = /aarch64|arm64|armv8/i.test(userAgent);
  return system === 'linux' && isArm ? PLATFORMS.linux.toReversed() : PLATFORMS[system];
}

/** The line to paste. `base`: URL of the downloads, without a slash at its end. */
export function installLine(system: System, base: string): string {
  return system === 'windows'
    ? `& ([scriptblock]::Create((irm ${base}/install.ps1))) -From ${base}`
    : `curl -fsSL ${base}/get.sh | sudo sh -s -- --from ${base}`;
}

/** How `culvert login` names a server: its host alone where that is enough. */
export function loginLine(publicUrl: string): string {
  const url = new URL(publicUrl);
  const isPlain = url.protocol === 'https:' && url.port === '' && url.pathname === '/';
  return `culvert login ${isPlain ? url.hostname : publicUrl.replace(/\/+$/, '')}`;
}
