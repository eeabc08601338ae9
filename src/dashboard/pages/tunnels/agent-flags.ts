/** Access control that the flags of the online agent add, in lines for people. */
import type { TunnelDetail } from './tunnel-queries.ts';

export interface AgentFlag {
  readonly label: string;
  readonly value: string;
}

export function agentFlags({ setByAgent }: Pick<TunnelDetail, 'setByAgent'>): readonly AgentFlag[] {
  const { allow_cidr: allow, deny_cidr: deny } = setByAgent ?? {};
  return [
    ...(allow === undefined ? [] : [{ label: 'Allowed networks', value: allow.join(', ') }]),
    ...(deny === undefined ? [] : [{ label: 'Blocked networks', value: deny.join(', ') }]),
  ];
}
