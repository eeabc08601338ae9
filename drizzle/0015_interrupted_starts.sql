ALTER TABLE `users` ADD `password_unseen` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `certificates` ADD `interruptions` integer DEFAULT 0 NOT NULL;