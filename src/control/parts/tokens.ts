/**
 * The services of capability tokens. Opened by control/open.ts, before what asks them whether an agent may act.
 */
import type { Core } from './core.ts';
import { DeviceLogins } from '../services/sessions/device-logins.ts';
import { MasterKeys } from '../services/tokens/master-keys.ts';
import { MasterRights } from '../services/tokens/master-rights.ts';
import { ProjectTokens } from '../services/tokens/project-tokens.ts';
import { Revocations } from '../services/tokens/revocations.ts';
import { Rotation } from '../services/tokens/rotation.ts';
import { TokenBudgets } from '../services/tokens/token-budgets.ts';
import { TokenEnds } from '../services/tokens/token-ends.ts';
import { TokenMaker } from '../services/tokens/token-maker.ts';
import { Tokens } from '../services/tokens/tokens.ts';

export interface TokenServices {
  readonly tokens: Tokens;
  readonly tokenEnds: TokenEnds;
  readonly rotation: Rotation;
  readonly tokenBudgets: TokenBudgets;
  readonly masterKeys: MasterKeys;
  readonly projectTokens: ProjectTokens;
  readonly revocations: Revocations;
  readonly deviceLogins: DeviceLogins;
}

export function openTokens(core: Core): TokenServices {
  const { options, store, keys, sealer, spend, drains, publisher: routeEvents } = core;
  const maker = new TokenMaker({ keys });
  const tokens = new Tokens({ store, keys, maker, spend });
  const tokenEnds = new TokenEnds({ store, routeEvents, drains });
  const masterRights = new MasterRights({ billing: options.billing.mode });
  const rotation = new Rotation({ store, maker, ends: tokenEnds, spend, masterRights });
  return {
    tokens,
    tokenEnds,
    rotation,
    tokenBudgets: new TokenBudgets({ store, spend, routeEvents }),
    masterKeys: new MasterKeys({ store, maker, tokens, rights: masterRights }),
    projectTokens: new ProjectTokens({ store, maker, ends: tokenEnds, rotation, masterRights }),
    revocations: new Revocations({ store }),
    deviceLogins: new DeviceLogins({ store, tokens, tokenEnds, sealer }),
  };
}
