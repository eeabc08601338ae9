/** ResetPage. */
import type { Arrival } from '../../place.ts';

export function ResetPage(_: { readonly arrival?: Arrival }) {
  return <main />;
}
