/** Test events of Shopify: https://shopify.dev/docs/api/webhooks */
import { hmac } from '../scheme.ts';
import { isoSeconds, jsonBody, type TestContext, type TestSender } from './sender.ts';

const SHOP = 'culvert-test.myshopify.com';

function payloadOf(type: string, { now }: TestContext): Readonly<Record<string, unknown>> {
  const at = isoSeconds(now);
  if (type === 'app/uninstalled') return { id: 548_380_009, name: 'Test shop', domain: SHOP, myshopify_domain: SHOP };
  if (type === 'products/update') {
    const variants = [{ id: 2, title: 'Default', price: '19.99', sku: 'TEST-1', inventory_quantity: 10 }];
    return { id: 1, title: 'Test product', handle: 'test-product', status: 'active', updated_at: at, variants };
  }
  const status = type === 'orders/paid' ? 'paid' : 'pending';
  const items = [{ id: 866_550_311_766, title: 'Test product', quantity: 1, price: '19.99', sku: 'TEST-1' }];
  const order = { id: 820_982_911_946, name: '#9999', email: 'jon@example.com', created_at: at, test: true };
  return { ...order, currency: 'USD', total_price: '19.99', financial_status: status, line_items: items };
}

export const shopify: TestSender = {
  types: ['orders/create', 'orders/paid', 'products/update', 'app/uninstalled'],
  make: (type, context) => {
    const body = jsonBody(payloadOf(type, context));
    return {
      headers: {
        accept: '*/*',
        'content-type': 'application/json',
        'user-agent': 'Shopify-Captain-Hook',
        'x-shopify-topic': type,
        'x-shopify-shop-domain': SHOP,
        'x-shopify-api-version': '2025-10',
        'x-shopify-webhook-id': context.id,
        'x-shopify-triggered-at': new Date(context.now).toISOString(),
        'x-shopify-test': 'true',
        'x-shopify-hmac-sha256': hmac(context.secret, [body], { encoding: 'base64' }),
      },
      body,
    };
  },
};
