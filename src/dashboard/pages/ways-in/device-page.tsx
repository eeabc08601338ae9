/** DevicePage. */
import type { Arrival } from '../../place.ts';

export function DevicePage(_: { readonly arrival?: Arrival }) {
  return <main />;
}
