/** Flags of tunnel commands that add access control, as the help shows them. */
import type { CommandOption } from '../../terminal/command.ts';

/** Of all tunnels. */
const NARROWING: readonly CommandOption[] = [
  ['--allow-cidr <network>', 'allow only visitors in this network; repeatable', 'repeatable'],
  ['--deny-cidr <network>', 'block visitors in this network; repeatable', 'repeatable'],
  ['--ttl <time>', 'stop publishing after this time, such as 2h'],
];

/** Of tcp tunnels. */
const REMOTE_PORT: CommandOption = ['--remote-port <port>', 'public port; stays with your organization'];
export const TCP_NARROWING: readonly CommandOption[] = [...NARROWING, REMOTE_PORT];
/** Refused by others, with the reason. */
export const TCP_ONLY = REMOTE_PORT[0];

const HTTP_ONLY: readonly CommandOption[] = [
  ['--domain <name>', 'custom domain that is verified and bound to a tunnel of your organization'],
  ['--basic-auth <user>', 'require this user name and a password (prompt, CULVERT_BASIC_AUTH or --basic-auth-file)'],
  ['--basic-auth-file <file>', 'file with the password, or with USER:PASSWORD'],
  ['--policy <file>', 'traffic policy (JSON) that applies besides that of the tunnel'],
  ['--webhook-verify <kind>', 'require signatures of this webhook sender, such as github, stripe, slack or svix'],
  ['--webhook-secret-file <file>', 'file with the secret of the sender (or CULVERT_WEBHOOK_SECRET)'],
  ['--visitor-login <visitor>', 'require login; allow this domain or email address; repeatable', 'repeatable'],
];

/** Of http and https tunnels. */
export const HTTP_NARROWING: readonly CommandOption[] = [...NARROWING, ...HTTP_ONLY];
/** Flags that tcp tunnels refuse, with the reason. */
export const REFUSED_NARROWING: readonly string[] = HTTP_ONLY.map(([flags]) => flags);
