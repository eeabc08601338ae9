/**
 * What browsers may do on the plain pages that stand beside the dashboard (billing, refusals, the sign-in of visitors): they have a style and no
 * script.
 */

export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  // Without its script a form would send the password in the address.
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
