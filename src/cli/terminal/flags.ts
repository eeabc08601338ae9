/** Options as commander hands them over, read as what they are. */
import { usageError } from './exit.ts';

type Flags = Readonly<Record<string, unknown>>;

/** The option's text; undefined when it was not given. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** The option's whole number, 0 or more. The server knows its bounds. @throws ExitError (usage) for anything else. */
export function countFlag(flags: Flags, name: string): number | undefined {
  const text = textFlag(flags, name);
  return text === undefined ? undefined : countOf(text, optionOf(name));
}

/** A whole number, 0 or more. @throws ExitError (usage) that names `what`. */
export function countOf(text: string, what: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usageError(`${what}: "${text}" is not a whole number`);
  return Number(text);
}

/** The option's list, which commas separate. @throws ExitError (usage) when there is nothing between two of them. */
export function listFlag(flags: Flags, name: string): string[] | undefined {
  const text = textFlag(flags, name);
  const parts = text?.split(',').map((part) => part.trim());
  if (parts?.includes('') === true) throw usageError(`${optionOf(name)}: "${text}" has an empty name`);
  return parts;
}

/** The lists of an option that may be given more than once, as one. @throws ExitError (usage) */
export function listsFlag(flags: Flags, name: string): string[] | undefined {
  const given = flags[name];
  return Array.isArray(given) ? given.flatMap((text) => listFlag({ [name]: text }, name) ?? []) : undefined;
}

/** @throws ExitError (usage) for an option that means nothing here; `because` says why. */
export function refuseFlags(flags: Flags, names: readonly string[], because: string): void {
  const given = names.filter((name) => flags[name] !== undefined).map(optionOf);
  if (given.length > 0) throw usageError(`${given.join(', ')}: ${because}`);
}

/** `ttlHours` → `--ttl-hours`. */
export function optionOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
