/** Access control that the flags of the online agent add, in lines for people. */
import type { Schemas } from '../../api/types.ts';
import { clockText, timeOf } from '../../parts/format.ts';

export interface AgentFlag {
  readonly label: string;
  readonly value: string;
}

export function agentFlags({ setByAgent }: { readonly setByAgent: Schemas['SetByAgent'] }): readonly AgentFlag[] {
  const { allow_cidr: allow, deny_cidr: deny, basic_auth: user, policy, visitor_login: visitors } = setByAgent ?? {};
  const end = setByAgent?.ends_at;
  const rows = [
    ['Allowed networks', allow?.join(', ')],
    ['Blocked networks', deny?.join(', ')],
    ['Password, user name', user],
    ['Policy actions', policy?.join(', ')],
    ['Visitor login', visitors?.join(', ')],
    ['Signed webhooks', setByAgent?.webhook_verify],
    ['Domain', setByAgent?.domain],
    ['Public port', setByAgent?.remote_port?.toString()],
    ['Ends', end === undefined ? undefined : clockText(timeOf(end))],
  ] as const;
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [{ label, value }]));
}
