/** A password in front of a tunnel on the whole product: set and taken away by the API, asked at the edge from the next request on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCulvert, startOrigin } from '../harness.ts';

test('visitors show the password, which the service never sees, until it is changed or taken away', async (t) => {
  const culvert = await startCulvert(t);
  const origin = await startOrigin(t, (request, response) => response.end(String(request.headers.authorization)));
  const { url } = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const [tunnel] = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  const path = `/tunnels/${tunnel?.id}/auth`;
  const put = async (password: string) =>
    assert.equal((await culvert.account.call('PUT', path, { username: 'preview', password })).status, 200);
  const visit = async (password: string) => {
    const { status, body } = await culvert.get(url.replace('//', `//preview:${password}@`));
    return status === 200 ? body : status;
  };

  await put('first');
  const asked = await culvert.get(url);
  assert.deepEqual([asked.status, asked.code], [401, 'unauthorized']);
  assert.deepEqual(
    [await visit('first'), await visit('first'), await visit('second')],
    ['undefined', 'undefined', 401],
  );
  await put('second');
  assert.deepEqual([await visit('first'), await visit('second')], [401, 'undefined']);
  assert.equal((await culvert.account.call('DELETE', path)).status, 200);
  assert.equal((await culvert.get(url)).status, 200);
});
