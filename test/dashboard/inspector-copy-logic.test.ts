/** Code that the inspector makes of a recorded request: what a visitor sent stays data in JavaScript, Python and a shell. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { codeFor, type Form } from '../../src/dashboard/pages/inspector/export/copy-as.ts';
import { byteLiteral, jsText, pythonText } from '../../src/dashboard/pages/inspector/export/literals.ts';
import { shellText } from '../../src/dashboard/pages/inspector/export/shell-text.ts';
import type { Detail } from '../../src/dashboard/pages/inspector/messages.ts';

/** Ends of texts in all three languages, expansions, line ends, what reorders text, and what is no character. */
const HOSTILE = [
  `'; touch /tmp/pwned; '`,
  '"; process.exit(1); "',
  '$(touch /tmp/pwned) `id` ${HOME} !! \\',
  '\\\'\\"\\n\\u0041\\',
  'a\nb\r\nc\t',
  '\u202egpj.exe\u2028\u2029\u200b\u0007\u001b[31m',
  'caf\u00e9 日本 \u{1f600} \u{e0041}',
  '%s %n {0} {{x}} #{y}',
  '-rf',
  '@/etc/passwd',
  '=@/etc/passwd',
  '</script><!--',
  '"""\'\'\'',
];

interface Sending {
  readonly method?: string;
  readonly path?: string;
  readonly fields?: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body?: string | Uint8Array;
}

function detail({ method = 'POST', path = '/', fields = [], body = '' }: Sending): Detail {
  const list = [['Host', 'shop.example.com:8443'] as const, ...fields].map(([name, value]) => ({ name, value }));
  const sent = Buffer.from(body);
  return {
    id: '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
    method,
    path,
    host: 'shop.example.com',
    request_header_list: list,
    request_body: sent.toString('base64'),
    request_body_truncated: false,
    trace: { scheme: 'https' },
  } as unknown as Detail;
}

function code(form: Form, sending: Sending, secrets = false): string {
  const made = codeFor(form, detail(sending), { secrets });
  assert.ok('text' in made, JSON.stringify(made));
  return made.text;
}

function problem(form: Form, sending: Sending): string {
  const made = codeFor(form, detail(sending), { secrets: false });
  return 'problem' in made ? made.problem : '';
}

interface Fetched {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Record<string, string> | [string, string][];
  readonly body?: string | Uint8Array;
}

/** Runs the code with a fetch that only writes down what it is given. */
async function fetched(text: string): Promise<Fetched> {
  let seen: Fetched | undefined;
  const context = {
    fetch: async (url: string, options: Omit<Fetched, 'url'>) => {
      seen = { url, ...options };
      return { status: 200, text: async () => '' };
    },
    console: { log: () => {} },
    atob,
    TextEncoder,
    Uint8Array,
  };
  await (runInNewContext(`(async () => { ${text} })()`, context) as Promise<void>);
  assert.ok(seen);
  return seen;
}

/** Runs the command in a shell whose `http` writes down its arguments and its input. */
function shelled(text: string): { readonly args: string[]; readonly input: Buffer } {
  const stub = `http() { for one in "$@"; do printf '%s\\0' "$one"; done; printf '\\1'; case "$*" in *--ignore-stdin*) ;; *) cat;; esac; }\n`;
  const out = execFileSync('/bin/sh', ['-c', stub + text], { input: '' });
  const end = out.indexOf(Buffer.from([0, 1])) + 1;
  return {
    args: out.subarray(0, end).toString('utf8').split('\0').slice(0, -1),
    input: out.subarray(end + 1),
  };
}

/** Of bytes, one per character, as the API shows them. */
const field = (text: string): string => Buffer.from(text.replaceAll(/[\r\n\0]/g, ' ')).toString('latin1');

suite('copy as fetch', () => {
  test('fetch: hostile paths, headers and bodies arrive as they were', async () => {
    for (const value of HOSTILE) {
      const text = code('fetch', {
        path: `/a?q=${field(value)}`,
        fields: [
          ['X-Attack', field(value)],
          ['Content-Type', 'text/plain'],
        ],
        body: value,
      });
      const seen = await fetched(text);
      assert.deepEqual(Object.fromEntries(Object.entries(seen.headers ?? {})), {
        'X-Attack': field(value),
        'Content-Type': 'text/plain',
      });
      // Controls are no text: they go as bytes.
      assert.equal(typeof seen.body === 'string' ? seen.body : Buffer.from(seen.body ?? []).toString(), value);
      assert.equal(seen.method, 'POST');
      const url = new URL(seen.url);
      assert.equal(url.host, 'shop.example.com:8443');
      assert.equal(Buffer.from(field(value), 'latin1').toString(), decodeURIComponent(encoded(url.search.slice(3))));
      // Nothing that a reader of the code could not see.
      assert.equal(/[\u202a-\u202e\u2028\u2029\u200b\u0007\u001b]/.test(text), false);
    }
  });

  test('fetch: repeated headers and bytes stay what they are', async () => {
    const seen = await fetched(
      code('fetch', {
        fields: [
          ['X-A', '1'],
          ['x-a', '2'],
          ['__proto__', 'x'],
        ],
        body: Uint8Array.of(0, 255, 254),
      }),
    );
    assert.deepEqual(
      [...(seen.headers as [string, string][])].map((pair) => [...pair]),
      [
        ['X-A', '1'],
        ['x-a', '2'],
        ['__proto__', 'x'],
      ],
    );
    assert.deepEqual([...(seen.body as Uint8Array)], [0, 255, 254]);
    // A text would get a content type that the visitor did not send.
    const bare = await fetched(code('fetch', { body: 'x' }));
    assert.deepEqual([...(bare.body as Uint8Array)], [120]);
  });

  test('fetch: requests that it cannot send are refused with the reason', () => {
    assert.match(problem('fetch', { method: 'GET', body: 'x' }), /GET request with a body/);
    assert.match(problem('fetch', { method: 'TRACE' }), /TRACE/);
    assert.match(problem('fetch', { fields: [['Content-Length', '9']], body: 'x' }), /part of the body/);
  });
});

suite('copy as Python', () => {
  /** Escapes that Python has beyond those of JSON. */
  const read = (literal: string): unknown =>
    JSON.parse(
      literal.replaceAll(/\\U([\da-f]{8})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))),
    );

  test('Python: hostile text is one literal on one line', () => {
    for (const value of HOSTILE) {
      assert.equal(read(pythonText(value)), value);
      assert.equal(runInNewContext(jsText(value)), value);
      assert.match(pythonText(value), /^"(?:[^"\\\n\r\u2028\u2029\u202e]|\\.)*"$/);
      assert.match(pythonText(field(value), { ascii: true }), /^[\x20-\x7e]*$/);
    }
    assert.equal(byteLiteral(Uint8Array.of(0, 34, 92, 65, 255)), String.raw`b"\x00\x22\x5cA\xff"`);
  });

  test('Python: the call has method, URL, headers and body', () => {
    const text = code('python', {
      method: 'PATCH',
      path: '/a?b=c',
      fields: [
        ['Cookie', 'a=1'],
        ['X-A', '1'],
        ['x-a', '2'],
        ['Content-Type', 'application/json'],
      ],
      body: '{"a":"é"}',
    });
    assert.equal(
      text,
      `import requests

response = requests.request(
    "PATCH",
    "https://shop.example.com:8443/a?b=c",
    headers={
        "Cookie": "***",
        "X-A": "1, 2",
        "Content-Type": "application/json",
    },
    data="{\\"a\\":\\"é\\"}".encode(),
    allow_redirects=False,
)
print(response.status_code, response.text)
`,
    );
    assert.match(code('python', { body: Uint8Array.of(0, 1) }), /data=b"\\x00\\x01",/);
  });
});

suite('copy as HTTPie', () => {
  test('HTTPie: hostile values are single arguments, and name no file', () => {
    for (const value of HOSTILE) {
      const sending = {
        path: `/a?q=${field(value)}`,
        fields: [
          ['X-Attack', field(value)],
          ['-Dash', 'x'],
        ] as const,
        body: value,
      };
      if (/\\[:;=@]/.test(field(value))) continue;
      const { args, input } = shelled(code('httpie', sending));
      const at = args.indexOf('--');
      const items = args.slice(at + 1);
      assert.deepEqual([items[0], items.length], ['POST', 5]);
      assert.equal(items[2], `X-Attack:${Buffer.from(field(value), 'latin1').toString().replace(/^[=@]/, '\\$&')}`);
      assert.equal(items[3], '-Dash:x');
      assert.equal(items[4], 'Content-Type:');
      const raw = args.find((one) => one.startsWith('--raw='));
      assert.equal(raw === undefined ? input.toString() : raw.slice('--raw='.length), value);
    }
  });

  test('HTTPie: binary and long bodies are piped', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    assert.deepEqual([...shelled(code('httpie', { body: bytes })).input], [...bytes]);
    const long = `-n 100% '!' \\0 ${'x'.repeat(40_000)}`;
    assert.equal(shelled(code('httpie', { body: long })).input.toString(), long);
  });

  test('HTTPie: what it cannot say is refused with the reason', () => {
    assert.match(problem('httpie', { fields: [['X-A', 'a\\=b']] }), /header X-A/);
    assert.match(problem('httpie', { fields: [['X-A', '\u00ff']] }), /header X-A/);
    assert.match(problem('httpie', { method: 'M-SEARCH' }), /M-SEARCH/);
  });
});

test('copy as: credentials are masked unless they are asked for', () => {
  const fields = [
    ['Authorization', 'Bearer hidden-word'],
    ['cookie', 'sid=hidden-word'],
    ['Accept', '*/*'],
    ['X-Forwarded-For', '203.0.113.7'],
    ['Content-Length', '0'],
  ] as const;
  for (const form of ['fetch', 'python', 'httpie'] as const) {
    const masked = code(form, { fields });
    assert.equal(masked.includes('hidden-word'), false, form);
    assert.match(masked, /\*\*\*/);
    assert.equal(/203\.0\.113|content-length/i.test(masked), false, form);
    assert.equal(code(form, { fields }, true).split('hidden-word').length, 3, form);
  }
});

test('shell text: what people can read is quoted, the rest is printed by escapes', () => {
  const run = (word: string): string => execFileSync('/bin/sh', ['-c', `printf %s ${word}`]).toString();
  for (const value of HOSTILE.map((text) => text.replaceAll(/\s+$/g, ''))) {
    const word = shellText(Uint8Array.from(Buffer.from(value)));
    assert.equal(run(word.text), value);
    assert.equal(/[\u202a-\u202e\u0007\u001b]/.test(word.text), false);
  }
});

/** A query that was escaped byte by byte, with the signs that need none. */
function encoded(query: string): string {
  return query.replaceAll(/%(?![\dA-F]{2})/g, '%25');
}
