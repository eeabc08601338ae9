/** `culvert tokens mint` and `rotate`: the commands that hand a secret out. How it is handed over is in minted-key.ts. */
import { serverName } from '../../config/credentials.ts';
import { confirm } from '../terminal/confirm.ts';
import { usageError } from '../terminal/exit.ts';
import { countFlag, listFlag, refuseFlags, textFlag } from '../terminal/flags.ts';
import { writeLine } from '../terminal/io.ts';
import { ofMaster } from './tokens.ts';
import { type Asked, apiCommand } from '../client/api-command.ts';
import { KeyDelivery } from './minted-key.ts';
import { harmless } from '../terminal/paint.ts';
import { findToken, projectPath, tokenPath } from './token-rows.ts';

export const tokensMint = apiCommand(
  async (asked) => {
    const { path, body } = asked.flags['master'] === true ? masterKey(asked) : token(asked);
    const delivery = await KeyDelivery.prepare(asked, { replaces: asked.flags['force'] === true });
    await delivery.deliver(() => asked.call('POST', path, body), 'Created');
    tellUse(asked);
  },
  { takesMasterKey: true },
);

export const tokensRotate = apiCommand(
  async (asked) => {
    const path = await rotated(asked);
    const graceHours = countFlag(asked.flags, 'graceHours');
    const delivery = await KeyDelivery.prepare(asked, { replaces: true });
    const body = graceHours === undefined ? {} : { graceHours };
    await delivery.deliver(() => asked.call('POST', `${path}/rotate`, body), 'Rotated');
  },
  { takesMasterKey: true },
);

/** How the file of a new key is used: the key says nothing of its server. */
function tellUse({ flags, io, server }: Asked): void {
  const file = textFlag(flags, 'saveFile');
  if (file === undefined || flags['json'] === true) return;
  const project = textFlag(flags, 'project');
  const words = flags['master'] === true ? 'tokens mint NAME --project SLUG' : 'http 3000';
  const inProject = project === undefined ? '' : ` --project ${project}`;
  const command = `culvert ${words}${inProject} --server ${serverName(server)} --token-file ${file}`;
  writeLine(io.stderr, harmless(`Next: ${command}`));
}

interface Wanted {
  readonly path: string;
  readonly body: object;
}

function masterKey({ args, flags }: Asked): Wanted {
  refuseFlags(flags, ['project'], 'a master key has no project; the keys that it creates have one');
  refuseFlags(
    flags,
    ['subdomains', 'quota', 'mbps'],
    'a master key opens no tunnels; set it on the keys that it creates',
  );
  refuseFlags(flags, ['ttlHours'], 'for a master key, use --ttl-days');
  const ttlDays = countFlag(flags, 'ttlDays');
  const cents = countFlag(flags, 'budgetCents');
  return {
    path: '/tokens/master',
    body: {
      name: args[0],
      ...(ttlDays === undefined ? {} : { ttl_days: ttlDays }),
      ...(cents === undefined ? {} : { monthlyBudgetUsdCents: cents }),
    },
  };
}

function token({ args, flags }: Asked): Wanted {
  refuseFlags(flags, ['ttlDays'], 'is for master keys (--master); use --ttl-hours');
  const project = textFlag(flags, 'project');
  const inProject = project !== undefined;
  const limits = {
    [inProject ? 'ttl_hours' : 'ttlHours']: countFlag(flags, 'ttlHours'),
    [inProject ? 'allowed_subdomains' : 'allowedSubdomains']: listFlag(flags, 'subdomains'),
    tunnelQuota: countFlag(flags, 'quota'),
    bandwidthLimitMbps: countFlag(flags, 'mbps'),
    monthlyBudgetUsdCents: countFlag(flags, 'budgetCents'),
  };
  // JSON leaves out what is undefined, and the server has its defaults.
  return { path: inProject ? `${projectPath(project)}/tokens` : '/tokens', body: { name: args[0], ...limits } };
}

/** The path of the token that is to be rotated. @throws ExitError when there is none, or the person does not want that after all. */
async function rotated(asked: Asked): Promise<string> {
  const [handle = ''] = asked.args;
  const project = textFlag(asked.flags, 'project');
  if (asked.isMaster) return ofMaster(project ?? '', handle).path;
  const found = await findToken(asked, handle, { project, passOverGrace: true });
  if (found.kind === 'cli') {
    throw usageError(`${found.name} is the key of a login. Run \`culvert login\` to replace it`);
  }
  if (found.kind === 'master') {
    await confirm(
      asked.io,
      asked.flags,
      `Rotate the master key "${found.name}"? The keys that it created are revoked with it.`,
    );
  }
  return tokenPath(found.nonce, project);
}
