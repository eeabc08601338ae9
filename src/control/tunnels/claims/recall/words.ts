/** The words of the command that brings a tunnel back. Pure. */
import { type AgentCommand, COMMAND_FLAGS } from '../../../../wire/agent-command.ts';
import { nameIn } from '../../../core/rules/labels.ts';
import type { TunnelRow } from '../../rows.ts';

interface Place {
  readonly slug: string;
  readonly isDefault: boolean;
}

/** As arguments of a process, unquoted. Without `--server` and without a key. `sent`: the command of its last agent, if that is known. */
export function startWords(
  row: Pick<TunnelRow, 'label' | 'protocol' | 'localPort'>,
  project: Place,
  sent: AgentCommand | undefined,
): readonly string[] {
  const command = sent ?? plainCommand(row);
  const { name, target, texts = {}, lists = {}, switches = [] } = command;
  const named = name === 'start' || texts.domain !== undefined || texts['remote-port'] !== undefined;
  // A random name would be another one the next time.
  const all = named ? texts : { ...texts, subdomain: nameIn(row.label, project), project: slugFor(project) };
  return [
    ...['culvert', name, target],
    ...COMMAND_FLAGS.texts.flatMap((flag) => flagWords(flag, all[flag])),
    ...COMMAND_FLAGS.lists.flatMap((flag) => (lists[flag] ?? []).flatMap((value) => flagWords(flag, value))),
    ...switches.map((flag) => `--${flag}`),
  ];
}

function plainCommand({ protocol, localPort }: Pick<TunnelRow, 'protocol' | 'localPort'>): AgentCommand {
  // A tunnel for WebSockets is one of HTTP to the agent.
  return { name: protocol === 'websocket' ? 'http' : protocol, target: String(localPort) };
}

function slugFor({ slug, isDefault }: Place): string | undefined {
  return isDefault ? undefined : slug;
}

/** In one word where the value could be read as a flag, or as nothing. */
function flagWords(flag: string, value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  return value === '' || value.startsWith('-') ? [`--${flag}=${value}`] : [`--${flag}`, value];
}
