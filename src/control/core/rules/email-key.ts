/** How addresses of emails are compared: neither case nor blanks around them count. */
export function emailKey(email: string): string {
  return email.trim().toLowerCase();
}
