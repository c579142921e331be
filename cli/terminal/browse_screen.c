/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal/browse_screen.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/browse_terminal.h"
#include "cli/terminal/terminal_description.h"
#include "report/reports/browse/browse_screen.h"

enum {
	CTRL_L = 12,
	ESCAPE_MS = 25,
	HALF_DELAY = 1, /* tenths of a second */
	KEYS = 1024,	/* before signals are looked at */
	EMPTY_READS = 20,
};

static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH, SIGTSTP};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static volatile sig_atomic_t ending, is_resized;

struct shown {
	struct hi_browse *browse;
	const struct hi_text_options *looks;
	SCREEN *screen;
	struct sigaction before[NUMBERS];
	sigset_t waiting; /* the mask while keys are awaited */
	unsigned empty_reads;
};

/* ---- signals ---- */

static void on_screen_signal(int number)
{
	if (number == SIGWINCH)
		is_resized = 1;
	else
		ending = number;
}

/* They come while keys are awaited, and not while something is drawn. */
static void take_signals(struct shown *s)
{
	struct sigaction action = {.sa_handler = on_screen_signal};
	sigset_t held;

	ending = is_resized = 0;
	sigemptyset(&held);
	for (size_t i = 0; i < NUMBERS; i++)
		sigaddset(&held, numbers[i]);
	sigprocmask(SIG_BLOCK, &held, &s->waiting);
	for (size_t i = 0; i < NUMBERS; i++) {
		sigaction(numbers[i], NULL, &s->before[i]);
		sigaction(numbers[i], &action, NULL);
		if (s->before[i].sa_handler == SIG_IGN)
			sigaction(numbers[i], &s->before[i], NULL);
		sigdelset(&s->waiting, numbers[i]);
	}
}

/* Ends the process where a signal asked for that: the handler from before does. */
static void give_signals_back(struct shown *s)
{
	for (size_t i = 0; i < NUMBERS; i++)
		sigaction(numbers[i], &s->before[i], NULL);
	sigprocmask(SIG_SETMASK, &s->waiting, NULL);
	if (ending)
		raise(ending);
}

/* ---- drawing ---- */

static uint64_t wall_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void set_look(enum hi_browse_look look)
{
	static const attr_t looks[] = {[HI_LOOK_PLAIN] = A_NORMAL,
				       [HI_LOOK_BAR] = A_REVERSE,
				       [HI_LOOK_SELECTED] = A_REVERSE | A_BOLD,
				       [HI_LOOK_DIM] = A_DIM};

	attrset((int)looks[look]);
}

static enum hi_status draw_screen(struct shown *s, struct hi_error *err)
{
	struct hi_browse_screen screen;
	int lines, columns;
	enum hi_status status;

	getmaxyx(stdscr, lines, columns);
	status = hi_browse_draw(s->browse, (unsigned)columns, (unsigned)lines, s->looks,
				wall_clock_ns(), &screen, err);
	if (status != HI_OK)
		return status;
	erase();
	for (size_t i = 0; i < screen.n_lines; i++) {
		set_look(screen.lines[i].look);
		mvaddstr((int)i, 0, screen.lines[i].text);
	}
	hi_browse_screen_free(&screen);
	refresh();
	return HI_OK;
}

static void take_size(void)
{
	struct winsize size;

	is_resized = 0;
	if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

/* ---- keys ---- */

/* Some terminals send these whatever mode they are in. */
static void define_plain_keys(void)
{
	static const struct {
		const char *text;
		int key;
	} keys[] = {{"\033[A", KEY_UP},	   {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT},
		    {"\033[D", KEY_LEFT},  {"\033[H", KEY_HOME}, {"\033[F", KEY_END},
		    {"\033[1~", KEY_HOME}, {"\033[4~", KEY_END}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (key_defined(keys[i].text) == 0)
			(void)define_key(keys[i].text, keys[i].key);
}

static uint32_t translate_key(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return HI_KEY_UP;
	case KEY_DOWN:
		return HI_KEY_DOWN;
	case KEY_LEFT:
		return HI_KEY_LEFT;
	case KEY_RIGHT:
		return HI_KEY_RIGHT;
	case KEY_PPAGE:
		return HI_KEY_PAGE_UP;
	case KEY_NPAGE:
		return HI_KEY_PAGE_DOWN;
	case KEY_HOME:
		return HI_KEY_HOME;
	case KEY_END:
		return HI_KEY_END;
	case KEY_ENTER:
		return HI_KEY_ENTER;
	case KEY_BACKSPACE:
		return HI_KEY_BACKSPACE;
	default:
		return 0;
	}
}

/* Waits for keys, a signal, or until the age that is shown is another one. */
static bool await_keys(struct shown *s)
{
	struct pollfd terminal = {.fd = 0, .events = POLLIN};
	struct timespec second = {.tv_sec = 1};
	int n;

	if (ending || is_resized)
		return false;
	n = ppoll(&terminal, 1, &second, &s->waiting);
	if (n > 0 && terminal.revents & (POLLHUP | POLLERR | POLLNVAL))
		ending = SIGHUP;
	s->empty_reads = n > 0 ? s->empty_reads + 1 : 0;
	/* Readable, but there is never anything: its end. */
	if (s->empty_reads > EMPTY_READS)
		ending = SIGHUP;
	return n > 0 && !ending;
}

static enum hi_status take_key(struct shown *s, int kind, wint_t key,
			       struct hi_error *err)
{
	s->empty_reads = 0;
	if (kind == OK && key == CTRL_L) {
		clearok(stdscr, TRUE);
		return HI_OK;
	}
	if (kind == KEY_CODE_YES)
		key = translate_key(key);
	return key ? hi_browse_key(s->browse, key, err) : HI_OK;
}

static bool are_keys_there(void)
{
	struct pollfd terminal = {.fd = 0, .events = POLLIN};

	return poll(&terminal, 1, 0) > 0;
}

/* Until there are none for HALF_DELAY. What is typed ahead is drawn once. */
static enum hi_status take_keys(struct shown *s, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	wint_t key;
	int kind;

	for (unsigned i = 0;
	     status == HI_OK && i < KEYS && !hi_browse_has_ended(s->browse) &&
	     (kind = get_wch(&key)) != ERR;
	     i++) {
		status = take_key(s, kind, key, err);
		if (status == HI_OK && !are_keys_there())
			status = draw_screen(s, err);
	}
	return status;
}

static enum hi_status take_events(struct shown *s, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	while (status == HI_OK && !ending && !hi_browse_has_ended(s->browse)) {
		if (is_resized)
			take_size();
		status = draw_screen(s, err);
		if (status != HI_OK)
			break;
		if (await_keys(s))
			status = take_keys(s, err);
	}
	return status;
}

enum hi_status hi_browse_show(struct hi_browse *browse,
			      const struct hi_text_options *looks, struct hi_error *err)
{
	struct shown s = {.browse = browse, .looks = looks};
	enum hi_status status;

	take_signals(&s);
	s.screen = hi_terminal_is_described() ? newterm(NULL, stdout, stdin) : NULL;
	if (!s.screen) {
		give_signals_back(&s);
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "browse: no description of the terminal %.40s "
			       "(terminfo); heapinspect retained prints the same tree",
			       getenv("TERM"));
	}
	hi_browse_terminal_drawn(true);
	set_escdelay(ESCAPE_MS);
	/* The modes are set already, and this process may not set them; ncurses takes
	 * keys one by one after this call all the same, and not after cbreak(). */
	(void)halfdelay(HALF_DELAY);
	noecho();
	keypad(stdscr, TRUE);
	define_plain_keys();
	leaveok(stdscr, TRUE);
	(void)curs_set(0);
	status = take_events(&s, err);
	endwin();
	hi_browse_terminal_drawn(false);
	delscreen(s.screen);
	give_signals_back(&s);
	return status;
}
