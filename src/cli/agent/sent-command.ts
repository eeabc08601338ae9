/** The agent's command line as typed, without secrets. The server keeps it, so that users can start the agent again. */
import { type AgentCommand, agentCommand, COMMAND_FLAGS } from '../../wire/agent-command.ts';
import type { Invocation } from '../terminal/command.ts';
import { textFlag } from '../terminal/flags.ts';
import { flagOf } from './upstream/upstream-input.ts';

type Named = Pick<AgentCommand, 'name' | 'target'>;

/** Undefined if it is too long or has unsafe characters. The server then makes a command from the tunnel. */
export function sentCommand(named: Named, { flags }: Invocation): AgentCommand | undefined {
  const { texts, lists, switches } = COMMAND_FLAGS;
  const given = texts
    .map((flag) => [flag, textFlag(flags, keyOf(flag))] as const)
    .filter(([, value]) => value !== undefined);
  const many = lists.map((flag) => [flag, flags[keyOf(flag)]] as const).filter(([, value]) => Array.isArray(value));
  const on = switches.filter((flag) => isOn(flags, flag));
  const command = {
    ...named,
    ...(given.length === 0 ? {} : { texts: Object.fromEntries(given) }),
    ...(many.length === 0 ? {} : { lists: Object.fromEntries(many) }),
    ...(on.length === 0 ? {} : { switches: on }),
  };
  const checked = agentCommand.safeParse(command);
  return checked.success ? checked.data : undefined;
}

/** commander sets `inspect` of its own accord when there is a `--no-inspect`. */
function isOn(flags: Invocation['flags'], flag: string): boolean {
  return flag.startsWith('no-') ? flags[keyOf(flag.slice(3))] === false : flags[keyOf(flag)] === true;
}

/** `allow-cidr` → `allowCidr`. */
function keyOf(flag: string): string {
  return flagOf(flag.replaceAll('-', '_'));
}
