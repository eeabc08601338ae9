/** InvitePage. */
import type { Arrival } from '../../place.ts';

export function InvitePage(_: { readonly arrival?: Arrival }) {
  return <main />;
}
