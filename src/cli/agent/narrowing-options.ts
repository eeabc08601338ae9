/** Flags of tunnel commands that add access control, as the help shows them. */
import type { CommandOption } from '../terminal/command.ts';

/** Of all tunnels. */
export const NARROWING: readonly CommandOption[] = [
  ['--allow-cidr <network>', 'allow only visitors in this network; repeatable', 'repeatable'],
  ['--deny-cidr <network>', 'block visitors in this network; repeatable', 'repeatable'],
];
