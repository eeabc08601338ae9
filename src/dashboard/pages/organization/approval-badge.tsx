/** The approval state of an organization. */
import { StateBadge } from '../../parts/state-badge.tsx';
import type { Tone } from '../../parts/tone.ts';
import type { Schemas } from '../../api/types.ts';

const TONES: Readonly<Record<Schemas['Organization']['approval_status'], Tone>> = {
  approved: 'good',
  pending: 'warn',
  suspended: 'bad',
};

export function ApprovalBadge({ status }: { readonly status: Schemas['Organization']['approval_status'] }) {
  return <StateBadge tone={TONES[status]}>{status === 'pending' ? 'pending approval' : status}</StateBadge>;
}
