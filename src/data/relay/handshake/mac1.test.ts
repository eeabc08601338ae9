/** Against Python's hashlib.blake2s: `blake2s(message, digest_size=16, key=blake2s(b'mac1----' + public_key).digest())`. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Mac1Message, mac1State } from './mac1.ts';
import { mac1Of } from '../testing.ts';

interface Vector {
  readonly publicKey: string;
  readonly message: string;
  readonly mac: string;
}

const VECTORS: Readonly<Record<number, Vector>> = {
  60: {
    publicKey: 'a54dca182530bb1d6d132cded6237b2ed91e3f721fcb1971174494d6493c9d5c',
    message:
      '3460be31201e69fedaa0eee8b9997f5c7c2999fdafe593253cd654af4dfad71427a0aeb3fee9232f8af2211f9ee491c5b10becb5563bfc1e6f93427e',
    mac: 'a2170375b3420d137184389819107115',
  },
  116: {
    publicKey: 'cbc8fe2955e5cd8e46dc8ed4b7c2764d2a5a4d767706f85d8690024ad6bda340',
    message:
      '1be9c8cbccc935f6cd1f61226ae15338ae1a34004d33ba0d246ac04c81b1baf23e3bf9eef5f79f2b4934af87f5520b69b94b0d982e85bb55b672a872637acd7466fcb60e0e8ff18463b0e4b2ba29703474f064ac68f700f5b02b3dc666f45bdeaa2ccaedcd2b5157410e4dee4af2b34f430a0734',
    mac: 'f38e047fcbf0667fbe0cdf1845f6d172',
  },
  64: {
    publicKey: '47de636c0e806c957ba684d6431fb5ead7424d09e15d024c5848f23d1fa6f736',
    message:
      '1d7f618d1532e70e20e2a6668de7f47e8467e546d53ec8e2a1257bdb256c9b3e4fbb498146ef7030cbf9537252dcceadd764b6a32fbb09adeae109c4a9972039',
    mac: '686179e8392266970b36c8936a08d0e1',
  },
  1: {
    publicKey: '75352b878b145c8a42d884cf4cfda72d8e1d5dd92589082d852a7122873ee805',
    message: 'ad',
    mac: 'ab9f2622837980c5cfd052e23f409283',
  },
  128: {
    publicKey: 'd58942167a385286195c679f9c6994e45b8ab1098012070961f37de436ddfdc9',
    message:
      '9d6e75af6547cfb11b42072482dc531c2bc3907c9617eb5e5089e40186baa8a57d119e6fb65d00abc32af38e667f022e872d49cc15c90b999b772b4fc7a6fd4c914a16db4708752b0f1544b835c0e719097dfa8701e9232f21f2812687786976ebfcc327f5931765274ba9829b4406f61ff889326ffa9492edeeee3c669f2bf2',
    mac: 'fe6d5eae050a447e41a1b324560a0fb5',
  },
};

for (const [length, { publicKey, message, mac }] of Object.entries(VECTORS)) {
  test(`a message of ${length} bytes is known to its receiver alone`, () => {
    const state = mac1State(Buffer.from(publicKey, 'hex'));
    const bytes = Buffer.from(`aabbcc${message}${mac}dd`, 'hex');
    const macAt = bytes.length - 17;
    assert.equal(macAt - 3, Number(length));
    const whole = new Mac1Message(bytes, 3, macAt);
    assert.equal(whole.isFor(state), true);
    assert.equal(whole.isFor(mac1State(Buffer.alloc(32, 1))), false);
    assert.equal(whole.isFor(state), true, 'asking for others changes nothing');
    for (let at = 3; at < macAt + 16; at++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((changed[at] as number) ^ 0x80, at);
      assert.equal(new Mac1Message(changed, 3, macAt).isFor(state), false, `byte ${at}`);
    }
  });
}

test('mac1: messages of all lengths up to three blocks match the RFC', () => {
  for (let length = 1; length <= 192; length++) {
    const [publicKey, message] = [randomBytes(32), randomBytes(length)];
    const bytes = Buffer.concat([message, mac1Of(publicKey, message)]);
    assert.equal(new Mac1Message(bytes, 0, length).isFor(mac1State(publicKey)), true, `${length} bytes`);
  }
});

test('a handshake that wireguard-go has sent: the initiation is for the server, the response for the client', () => {
  const server = mac1State(Buffer.from('fGs1Cyd+FDmjA/YX3yX7506J1fmk9lj1j9yfGYDMMzU=', 'base64'));
  const client = mac1State(Buffer.from('w3lxW16K3j1/nZ7++nofwppwcOoudHKq3QsfNfMSyRQ=', 'base64'));
  const initiation = Buffer.from(
    '01000000d8370e914d5cce938b552ad3e57294323c892b391118a29a2d626a5796c816b1ba119d704a6244053f85b86c2e4a6663a0991f2c7d725987' +
      'e842f87b0e1cd6d6c9b8179cad440420896a5f0f41710a24aa7bfa34ea80509f452205b575f4bc0479e6a6e1c113c337365f9cbbaf2a0d221c2a78f2' +
      '9b3385cda8b6929abfaeb41a00000000000000000000000000000000',
    'hex',
  );
  const response = Buffer.from(
    '020000005ac0cbecd8370e91e5a451d8a2837f2e2039f515f87e66b3fe08ad4c93cb6babf5206d693a0d0c605cc1716c535312d95134e6b3425fae9c' +
      '40f67d0577613882617857f0f7263c1d00000000000000000000000000000000',
    'hex',
  );
  for (const [bytes, to, other] of [
    [initiation, server, client],
    [response, client, server],
  ] as const) {
    const message = new Mac1Message(bytes, 0, bytes.length - 32);
    assert.deepEqual([message.isFor(to), message.isFor(other)], [true, false]);
  }
});
