/** Names of browsers and CLIs, from what they send about themselves. Unknown ones are shown shortened. Tested without a browser. */

const LONGEST = 60;
/** `culvert login`, with the name of its machine. */
const COMMAND_LINE = /^culvert on (\S+)$/;

/** In this order: those that say more call themselves what others are too. */
const BROWSERS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Whether a session holds a key, by which that machine publishes. */
export function isCommandLine(userAgent: string): boolean {
  return COMMAND_LINE.test(userAgent);
}

export function programWords(userAgent: string): string {
  const machine = COMMAND_LINE.exec(userAgent)?.[1];
  if (machine !== undefined) return cut(`CLI on ${machine}`);
  const browser = BROWSERS.find(([sign]) => sign.test(userAgent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(userAgent))?.[1];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  if (userAgent === '') return 'Unknown client';
  return cut(userAgent);
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
