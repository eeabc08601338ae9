/** Arguments as a line to paste: in PowerShell on Windows, else in a POSIX shell. */

/** `variables`: set for this command alone; in PowerShell, for the session. */
export function shellLine(
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  platform: NodeJS.Platform = process.platform,
): string {
  const set = Object.entries(variables);
  if (platform === 'win32') {
    // A plain word behind `=` would be run as a command.
    const first = set.map(([name, value]) => `$env:${name} = ${inPowerShell(value)}; `).join('');
    return first + words.map((word) => (/^\w[\w-]*$/.test(word) || isFlag(word) ? word : inPowerShell(word))).join(' ');
  }
  const posix = (word: string): string => (/^[\w.:/%+=,-]+$/.test(word) ? word : inPosix(word));
  return [...set.map(([name, value]) => `${name}=${posix(value)}`), ...words.map(posix)].join(' ');
}

function isFlag(word: string): boolean {
  return /^--[a-z-]+$/.test(word);
}

/** PowerShell also treats the four curved single quotes as quotes. */
function inPowerShell(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;
}

function inPosix(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
