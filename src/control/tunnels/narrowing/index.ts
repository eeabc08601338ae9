/** Access control that agents set by flags, beside that of API and dashboard. */
import type { BillingMode } from '../../core/rules/plan-gate.ts';
import type { Slice } from '../../core/slice.ts';
import { visitorLogin } from '../visitor-login/index.ts';
import { Narrowings } from './service.ts';

export interface NarrowingServices {
  readonly narrowings: Narrowings;
}

export interface NarrowingOptions {
  readonly billing: { readonly mode: BillingMode };
}

export const narrowing: Slice<NarrowingServices, NarrowingOptions> = {
  name: 'narrowing',
  service: ({ store, passwords, apiUrl }, use, { billing }) => ({
    narrowings: new Narrowings({ store, passwords, apiUrl, billing: billing.mode, ...use(visitorLogin) }),
  }),
};
