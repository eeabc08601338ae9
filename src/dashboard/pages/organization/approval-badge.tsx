/** Whether an organization may publish, in a word. */
import { StateBadge } from '../../parts/state-badge.tsx';
import type { Tone } from '../../parts/tone.ts';
import type { Schemas } from '../../api/types.ts';

const TONES: Readonly<Record<Schemas['Organization']['approval_status'], Tone>> = {
  approved: 'good',
  pending: 'warn',
  suspended: 'bad',
};

export function ApprovalBadge({ status }: { readonly status: Schemas['Organization']['approval_status'] }) {
  return <StateBadge tone={TONES[status]}>{status === 'pending' ? 'waits for approval' : status}</StateBadge>;
}
