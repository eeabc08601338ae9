/**
 * Headers of the replay form, as text. Dots hide recorded credentials from other people who see the screen; the request is sent with the recorded
 * values. Pure: tested without a browser.
 */
import { COVER, isSecret } from '../secret-fields.ts';

interface Field {
  readonly name: string;
  readonly value: string;
}

/** Values of a name differ: the second one is `•••••••• 2`. */
const COVERED = new RegExp(`^${COVER}(?: (\\d{1,4}))?$`);

/** Covers recorded credentials; values that the user typed stay. */
export function covered(text: string, recorded: readonly Field[]): string {
  return eachLine(text, (name, value) => {
    const at = isSecret(name) ? valuesOf(recorded, name).indexOf(value) : -1;
    if (at < 0) return undefined;
    return at === 0 ? COVER : `${COVER} ${at + 1}`;
  });
}

/** The same with the recorded values. A cover that stands for none stays. */
export function uncovered(text: string, recorded: readonly Field[]): string {
  return eachLine(text, (name, value) => {
    const found = COVERED.exec(value);
    return found === null ? undefined : valuesOf(recorded, name)[Number(found[1] ?? 1) - 1];
  });
}

export function hasCover(text: string): boolean {
  return text.includes(COVER);
}

function valuesOf(recorded: readonly Field[], name: string): readonly string[] {
  return recorded.filter((field) => field.name.toLowerCase() === name.toLowerCase()).map(({ value }) => value);
}

/** `change`: the new value; undefined: the line stays as it is. */
function eachLine(text: string, change: (name: string, value: string) => string | undefined): string {
  return text
    .split('\n')
    .map((line) => {
      const at = line.indexOf(':');
      const value = at < 0 ? undefined : change(line.slice(0, at).trim(), line.slice(at + 1).trim());
      return value === undefined ? line : `${line.slice(0, at)}: ${value}`;
    })
    .join('\n');
}
