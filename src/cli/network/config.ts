/** `culvert network config`: the configuration of a network's server or of a device, again, with the private key that is on this machine. */
import { z } from 'zod';
import { type Asked, apiCommand } from '../client/api-command.ts';
import { ConfigDelivery } from './config-delivery.ts';
import { usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { type Device, devicePath, findDevice, findNetwork, type Network, networkPath } from './items.ts';
import { harmless } from '../terminal/paint.ts';
import { publicKeyOf, readPrivateKey } from './wireguard-keys.ts';

const rendered = z.looseObject({ config: z.string().max(4 * 1024 * 1024) });

export const networkConfig = apiCommand(async (asked) => {
  const { args, flags, io } = asked;
  const file = textFlag(flags, 'keyFile');
  if (flags['qr'] === true && file === undefined) {
    throw usageError(
      '--qr: needs the private key, which the server does not have. Use --key-file FILE. If only the device has the key, edit the tunnel in its app, or revoke the device and enroll it again',
    );
  }
  const key = file === undefined ? undefined : await readPrivateKey(file, io);
  const delivery = await ConfigDelivery.prepare(asked);
  try {
    const network = await findNetwork(asked);
    const device = args[1] === undefined ? undefined : await findDevice(asked, network);
    const expected = device === undefined ? network.server_public_key : device.public_key;
    if (key !== undefined && expected !== null && publicKeyOf(key) !== expected) {
      const whose = device === undefined ? `the server of ${network.name}` : `${device.name} in ${network.name}`;
      throw usageError(harmless(`${file}: is not the key of ${whose}, whose public key is ${expected}`));
    }
    await delivery.deliver({ render: () => configText(asked, network, device), key, answer: {} });
  } finally {
    await delivery.close();
  }
});

/** As the server renders it: of a device, or else of the network's server. Throws as `Asked.call`. */
export async function configText(asked: Asked, network: Network, device?: Device): Promise<string> {
  const path =
    device === undefined ? `${networkPath(network.id)}/server-config` : `${devicePath(network.id, device.id)}/config`;
  return rendered.parse(await asked.call('GET', path)).config;
}
