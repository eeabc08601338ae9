/** The form of the files that hold a contract: blocks of a heading and its lines, both sorted. */

export interface Block {
  readonly heading: string;
  readonly lines: readonly string[];
}

/** The text of these blocks: a heading at the margin, its lines indented. */
export function textOf(blocks: readonly Block[]): string {
  const byHeading = [...blocks].sort((a, b) => (a.heading < b.heading ? -1 : 1));
  return (
    byHeading.map(({ heading, lines }) => [heading, ...[...lines].sort().map(indented)].join('\n')).join('\n') + '\n'
  );
}

/** What is in one text and not in the other: `- GET /tunnels: …` is gone, `+ GET /tunnels: …` is new. */
export function changes(kept: string, now: string): string[] {
  const [before, after] = [named(kept), named(now)];
  const gone = before.filter((line) => !after.includes(line)).map((line) => `- ${line}`);
  const added = after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...added].sort((a, b) => (a.slice(2) < b.slice(2) ? -1 : 1));
}

const indented = (line: string): string => `  ${line}`;

/** Each line with its heading, so that it says by itself where it is. */
function named(text: string): string[] {
  let heading = '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      if (line.startsWith('  ')) return `${heading}: ${line.trim()}`;
      heading = line;
      return line;
    });
}
