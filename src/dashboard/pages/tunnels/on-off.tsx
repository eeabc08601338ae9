/** Whether something that can be put on a tunnel is on it. */
import { StateBadge } from '../../parts/state-badge.tsx';

export function OnOff({ on }: { readonly on: boolean }) {
  return <StateBadge tone={on ? 'good' : 'quiet'}>{on ? 'On' : 'Off'}</StateBadge>;
}
