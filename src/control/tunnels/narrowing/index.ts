/** Access control that agents set by flags, beside that of API and dashboard. */
import type { Slice } from '../../core/slice.ts';
import { Narrowings } from './service.ts';

export interface NarrowingServices {
  readonly narrowings: Narrowings;
}

export const narrowing: Slice<NarrowingServices> = {
  name: 'narrowing',
  service: () => ({ narrowings: new Narrowings() }),
};
