/** Receives webhooks in a test, without a port: `nextWebhook` resolves with the next request that the sender makes. */
import { listen } from 'culvert';

export async function webhookReceiver(options = {}) {
  const waiting = [];
  const tunnel = await listen(async (request, response) => {
    const parts = await Array.fromAsync(request);
    response.writeHead(204).end();
    const { method, url, headers } = request;
    waiting.shift()?.({ method, url, headers, body: Buffer.concat(parts).toString() });
  }, options);
  return {
    url: tunnel.url,
    nextWebhook: () => new Promise((resolve) => waiting.push(resolve)),
    close: () => tunnel.close(),
  };
}
