/**
 * `culvert network set-server`: the public key and port of the machine that is a network's server. Its private key is made or read here and stays
 * here: in the configuration that the person asked for.
 */
import type { Secret } from '../../base/secret.ts';
import { type Asked, apiCommand, printDone } from '../client/api-command.ts';
import { ConfigDelivery } from './config-delivery.ts';
import { confirm } from '../terminal/confirm.ts';
import { usageError } from '../terminal/exit.ts';
import { countFlag, refuseFlags, textFlag } from '../terminal/flags.ts';
import { writeLine } from '../terminal/io.ts';
import { configText } from './config.ts';
import {
  configCommand,
  findNetwork,
  handleOf,
  interfaceOf,
  type Network,
  networkPath,
  readNetwork,
  tellNext,
} from './items.ts';
import { harmless } from '../terminal/paint.ts';
import { checkedPublicKey, makePrivateKey, publicKeyOf, readPrivateKey } from './wireguard-keys.ts';

/** Where WireGuard usually listens. */
const USUAL_PORT = 51_820;
const WAYS = ['generate', 'keyFile', 'publicKey'] as const;

interface ServerKey {
  readonly publicKey: string;
  /** Undefined: it is somewhere else. */
  readonly privateKey: Secret | undefined;
}

export const networkSetServer = apiCommand(async (asked) => {
  const { flags } = asked;
  checkFlags(asked);
  const network = await findNetwork(asked);
  const key = await chosenKey(asked, network);
  const isGenerated = flags['generate'] === true;
  const delivers = isGenerated || textFlag(flags, 'output') !== undefined;
  const delivery = delivers ? await ConfigDelivery.prepare(asked) : undefined;
  try {
    await confirmOther(asked, network, key);
    const answer = await asked.call('PUT', `${networkPath(network.id)}/server`, {
      server_public_key: key.publicKey,
      server_listen_port: countFlag(flags, 'port') ?? network.server_listen_port ?? USUAL_PORT,
      ...endpointOf(asked, network),
    });
    const registered = readNetwork(answer);
    const said = `${registered.name}: devices connect to its server at ${registered.public_endpoint ?? '?'}`;
    if (delivery === undefined) await printDone(asked, answer, said);
    else {
      if (flags['json'] !== true) writeLine(asked.io.stderr, harmless(`${said}.`));
      const again = `culvert network set-server ${handleOf(registered)} --generate`;
      const lost = isGenerated ? `The key is lost. Create another: ${again}` : undefined;
      const render = (): Promise<string> => configText(asked, registered);
      await delivery.deliver({ render, key: key.privateKey, answer: registered, lost });
    }
    tellOn(asked, network, registered);
  } finally {
    await delivery?.close();
  }
});

function checkFlags({ flags }: Asked): void {
  const ways = WAYS.filter((name) => flags[name] !== undefined);
  if (ways.length > 1) throw usageError('--generate, --key-file and --public-key: choose one');
  const port = countFlag(flags, 'port');
  if (port !== undefined && (port < 1 || port > 65_535))
    throw usageError(`--port: ${port} is not a port. Use 1 to 65535`);
  if (flags['relay'] === true) refuseFlags(flags, ['endpoint'], "can't be used with --relay");
}

/** @throws ExitError (usage) when no key is given and none is registered. */
async function chosenKey({ flags, io }: Asked, network: Network): Promise<ServerKey> {
  const file = textFlag(flags, 'keyFile');
  const given = textFlag(flags, 'publicKey');
  if (given !== undefined) return { publicKey: checkedPublicKey(given), privateKey: undefined };
  if (flags['generate'] === true) return withPublic(makePrivateKey());
  if (file !== undefined) return withPublic(await readPrivateKey(file, io));
  const { server_public_key: registered } = network;
  if (registered !== null) return { publicKey: registered, privateKey: undefined };
  const ways =
    'use --generate for a new one, --key-file for one from `wg genkey`, or --public-key for one from another machine';
  throw usageError(`${harmless(network.name)} has no server yet, so it needs a key: ${ways}`);
}

function withPublic(privateKey: Secret): ServerKey {
  return { publicKey: publicKeyOf(privateKey), privateKey };
}

/** Clients know the server by its key alone. */
async function confirmOther({ io, flags }: Asked, network: Network, key: ServerKey): Promise<void> {
  const { server_public_key: registered } = network;
  if (registered === null || registered === key.publicKey) return;
  const loss = 'Its devices then need new configurations.';
  await confirm(io, flags, `Replace the key of the server of ${network.name}? ${loss}`);
}

/** A self-relayed network stays one until `--relay` says otherwise: the server takes what it is not told for that. */
function endpointOf({ flags }: Asked, network: Network): { public_endpoint?: string } {
  const given = textFlag(flags, 'endpoint');
  if (given !== undefined) return { public_endpoint: given };
  const isSelf = network.reserved_udp_port === null && network.public_endpoint !== null && flags['relay'] !== true;
  return isSelf && network.public_endpoint !== null ? { public_endpoint: network.public_endpoint } : {};
}

/** What writes the configuration with the key that it had: without options for one, that of the file that is there. */
function configAgain({ flags }: Asked, network: Network): string {
  const file = textFlag(flags, 'keyFile');
  if (file === undefined && flags['publicKey'] === undefined) return configCommand(network);
  const key = file === undefined || file === '-' ? '' : ` --key-file ${file}`;
  const output = `${interfaceOf(network)}.conf`;
  const force = file === output || file === `./${output}` ? ' --force' : '';
  return `culvert network config ${handleOf(network)}${key} --output ${output}${force}`;
}

function tellOn(asked: Asked, before: Network, after: Network): void {
  const { io, flags } = asked;
  const output = textFlag(flags, 'output');
  const handle = handleOf(after);
  const commands: string[] = [];
  if (output !== undefined) commands.push(`sudo wg-quick up ${output.includes('/') ? output : `./${output}`}`);
  else if (flags['generate'] !== true) {
    commands.push(configAgain(asked, after));
  }
  if (after.reserved_udp_port !== null) {
    commands.push(`culvert udp ${after.server_listen_port ?? 'PORT'} --network ${handle}`);
  }
  tellNext(asked, 'Next, on that machine', commands);
  // Without an endpoint, but with a port: the port was taken away, and clients still go there.
  if (flags['json'] === true || (before.public_endpoint === null && before.reserved_udp_port === null)) return;
  if (before.public_endpoint !== after.public_endpoint) {
    writeLine(io.stderr, 'The address for devices has changed. They need new configurations.');
  }
}
