CREATE TABLE `server_identity` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL
);
