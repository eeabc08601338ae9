/**
 * The services of capability tokens. Opened by control/open.ts, before what asks them whether an agent may act.
 */
import type { Core } from './core.ts';
import { DeviceLogins } from '../auth/cli/service.ts';
import { MasterKeys } from '../access-keys/master/keys.ts';
import { MasterRights } from '../access-keys/master/rights.ts';
import { ProjectTokens } from '../access-keys/master/project-keys.ts';
import { Revocations } from '../access-keys/revocations.ts';
import { Rotation } from '../access-keys/rotation.ts';
import { TokenBudgets } from '../access-keys/budgets.ts';
import { TokenEnds } from '../access-keys/ends.ts';
import { TokenMaker } from '../access-keys/maker.ts';
import { Tokens } from '../access-keys/service.ts';

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
