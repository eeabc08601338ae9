/**
 * Looking for text from outside in a column: ASCII case does not count, and LIKE's wildcards are characters like others.
 */
import { type Column, type SQL, sql } from 'drizzle-orm';

/** The column is this text. */
export function isText(column: SQL | Column, text: string): SQL {
  return sql`${column} LIKE ${plain(text)} ESCAPE '\\'`;
}

/** The text stands somewhere in the column. */
export function holdsText(column: SQL | Column, text: string): SQL {
  return sql`${column} LIKE ${`%${plain(text)}%`} ESCAPE '\\'`;
}

function plain(text: string): string {
  return text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);
}
