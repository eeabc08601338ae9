/** From flags, or keys of `[tunnels.NAME]`, to what the server adds in front of a tunnel (wire/narrowing.ts). Names are checked here, rules by the server. */
import { parseNetwork } from '../../base/net/addr.ts';
import type { NarrowingSettings } from '../../config/agent-keys/narrowing.ts';
import { type AskedNarrowing, flagOf, MAX_NARROWING_BYTES } from '../../wire/narrowing.ts';
import type { Invocation } from '../terminal/command.ts';
import { usageError } from '../terminal/exit.ts';
import { listsFlag } from '../terminal/flags.ts';

/** The error for a mistake in `key`, at the flag or in the file. */
type Mistake = (key: keyof NarrowingSettings, text: string) => Error;

/** Of the flags of `http`, `https` and `tcp`. @throws ExitError (usage) */
export function narrowingOfFlags({ flags }: Invocation): AskedNarrowing | undefined {
  const settings = { allow_cidr: listsFlag(flags, 'allowCidr'), deny_cidr: listsFlag(flags, 'denyCidr') };
  return narrowingOf(settings, (key, text) => usageError(`${flagOf(key)}: ${text}`));
}

/** Undefined when nothing is set. Throws what `mistake` makes. */
export function narrowingOf(settings: NarrowingSettings, mistake: Mistake): AskedNarrowing | undefined {
  const asked: AskedNarrowing = {
    ...networks('allow_cidr', settings.allow_cidr, mistake),
    ...networks('deny_cidr', settings.deny_cidr, mistake),
  };
  const names = Object.keys(asked);
  if (names.length === 0) return undefined;
  if (Buffer.byteLength(JSON.stringify(asked)) <= MAX_NARROWING_BYTES) return asked;
  throw usageError(`${names.map(flagOf).join(', ')}: together more than ${MAX_NARROWING_BYTES / 1024} KiB`);
}

function networks<K extends 'allow_cidr' | 'deny_cidr'>(
  key: K,
  given: readonly string[] | undefined,
  mistake: Mistake,
): { [name in K]?: string[] } | undefined {
  if (given === undefined) return undefined;
  if (given.length === 0) throw mistake(key, 'has no network');
  const wrong = given.find((network) => parseNetwork(network) === undefined);
  if (wrong !== undefined) throw mistake(key, `"${wrong}" is no IP address and no network such as 10.0.0.0/8`);
  return { [key]: [...given] } as { [name in K]: string[] };
}
