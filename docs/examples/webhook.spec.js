/** Playwright test: the shop sends a webhook when an order is placed. */
import { expect, test } from '@playwright/test';
import { webhookReceiver } from './webhook.js';

test('an order sends a webhook', async ({ page }) => {
  const receiver = await webhookReceiver();
  const sent = receiver.nextWebhook();
  await page.goto(`${process.env.SHOP_URL}/checkout?notify=${encodeURIComponent(receiver.url)}`);
  await page.getByRole('button', { name: 'Buy' }).click();
  expect(JSON.parse((await sent).body)).toMatchObject({ type: 'order.placed' });
  await receiver.close();
});
