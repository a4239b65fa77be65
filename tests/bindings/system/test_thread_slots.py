from __future__ import annotations

import os
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from ararat.bindings.system import thread_slots
from ararat.bindings.system.concurrency import Busy
from ararat.bindings.system.thread_slots import DEFAULT, WORK, ThreadSlots
from tests.forking import exit_code
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("few_objects")


@pytest.fixture
def threads() -> ThreadSlots:
    threads = ThreadSlots()
    threads.use(8)
    return threads


def taken(threads: ThreadSlots) -> int:
    """Occupy all slots of all kinds, and return their number."""
    held = 0
    for work in WORK:
        if work == "changes":
            continue  # It has a limit of its own only.
        try:
            while True:
                threads.acquire(work, f"192.0.2.{held}")
                held += 1
        except Busy:
            pass
    return held


@pytest.mark.parametrize("number", [1, 2, 3, 4, 8, 9, 32, 96, 1000])
def test_all_kinds_together_leave_two_threads(number):
    threads = ThreadSlots()
    threads.use(number)
    assert taken(threads) == max(1, number - 2) == threads.together


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("number", [1, 2, 8, 96])
def test_each_kind_has_a_limit_of_its_own(number, work):
    threads = ThreadSlots()
    threads.use(number)
    possible = min(threads.limit(work), threads.together)
    assert 1 <= possible <= max(1, number // 2)
    for _ in range(possible):
        threads.acquire(work)
    with pytest.raises(Busy, match=work) as busy:
        threads.acquire(work)
    assert busy.value.code == "busy"


def test_a_thread_that_answers_no_requests_needs_no_slot(threads):
    taken(threads)
    with threads.apart():
        threads.acquire("feeds").release()
    with pytest.raises(Busy):
        threads.acquire("feeds")


def test_changes_and_other_work_do_not_refuse_each_other(threads):
    for _ in range(4):
        threads.acquire("changes")
    with pytest.raises(Busy):
        threads.acquire("changes")
    assert taken(threads) == 6


@pytest.mark.parametrize(("number", "traces", "sign_ins"), [(1, 1, 1), (7, 1, 1), (8, 2, 2), (96, 24, 8)])
def test_traces_have_a_quarter_of_the_threads_and_sign_ins_at_most_eight(number, traces, sign_ins):
    threads = ThreadSlots()
    threads.use(number)
    assert (threads.limit("traces"), threads.limit("sign-ins")) == (traces, sign_ins)


def test_a_client_has_a_maximum(threads):
    held = threads.acquire("traces", "2001:db8::1", each=1)
    with pytest.raises(Busy) as busy:
        threads.acquire("traces", "2001:db8:0:1::2", each=1)
    assert busy.value.code == "busy-client"
    threads.acquire("sign-ins", "2001:db8::1", each=1).release()
    threads.acquire("traces", "192.0.2.1", each=1).release()
    held.release()
    threads.acquire("traces", "2001:db8::1", each=1).release()
    assert threads.in_use() == 0


def test_an_application_can_lower_a_limit_and_not_raise_it(threads):
    first = threads.acquire("traces", most=1)
    with pytest.raises(Busy):
        threads.acquire("traces", most=1)
    second = threads.acquire("traces", most=50)
    with pytest.raises(Busy):
        threads.acquire("traces", most=50)
    first.release()
    second.release()


def test_a_short_wait_gets_the_slot_that_becomes_free(threads):
    held = [threads.acquire("uploads") for _ in range(threads.limit("uploads"))]
    timer = threading.Timer(0.05, held[0].release)
    timer.start()
    threads.acquire("uploads", brief=30).release()
    timer.join()


def test_nothing_waits_for_slow_work(threads, monkeypatch):
    for _ in range(threads.limit("uploads")):
        threads.acquire("uploads")
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 31)
    monkeypatch.setattr(time, "sleep", pytest.fail)
    with pytest.raises(Busy):
        threads.acquire("uploads", brief=30)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_all_slots():
    threads = ThreadSlots()
    threads.use(1)

    def work() -> None:
        with threads.acquire("traces"):
            held.release()
            assert threads.in_use() == 1

    with threads.acquire("traces") as held:
        assert exit_code(work) == 0
        assert threads.in_use("traces") == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("number", [0, -1])
def test_a_process_has_at_least_one_thread(threads, number):
    with pytest.raises(ValueError, match="at least 1"):
        threads.use(number)


# Pages ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "limit"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4), (16, 8), (96, 8), (1000, 8)])
def test_pages_hold_at_most_eight_threads_and_half_of_them(number, limit):
    threads = ThreadSlots()
    threads.use(number)
    found = [threads.pages.take(f"client {each}") for each in range(20)]
    assert len([slot for slot in found if slot]) == threads.pages.in_use == threads.pages.limit == limit


def test_pages_of_one_client_hold_at_most_two_threads(threads):
    held = [threads.pages.take("a") for _ in range(3)]
    assert [slot is not None for slot in held] == [True, True, False]
    assert threads.pages.take("b")
    threads.pages.end(held[0])
    assert threads.pages.take("a")


@pytest.mark.parametrize("waiting", range(7))
def test_pages_and_work_that_waits_leave_two_threads_but_one_page_can_run(threads, waiting):
    for number in range(waiting):
        threads.acquire("uploads" if number < 4 else "traces")
    pages = [page for each in range(9) if (page := threads.pages.take(str(each)))]
    assert len(pages) == max(1, min(4, 6 - waiting))
    # Pages refuse no work that waits.
    for number in range(waiting, 6):
        threads.acquire("uploads" if number < 4 else "traces")


def test_a_page_gives_its_slot_to_others_while_it_waits(threads):
    page = threads.pages.begin("a")
    with threads.acquire("changes"):
        assert threads.pages.in_use == 0
        others = [threads.pages.take(str(each)) for each in range(4)]
    assert (all(others), threads.pages.in_use) == (True, 5)
    threads.pages.end(page)
    assert threads.pages.in_use == 4


def test_a_page_that_has_ended_takes_no_slot_back(threads):
    page = threads.pages.begin("a")
    download = threads.acquire("downloads")
    threads.pages.end(page)
    download.release()
    assert threads.pages.in_use == 0


def test_a_part_of_a_page_needs_no_further_slot(threads):
    taken = threads.pages.take("a")
    with threads.pages.use(taken):
        assert threads.pages.begin("a") is None
        assert threads.pages.in_use == 1
    assert threads.pages.in_use == 0


def in_thread(work):
    """Run a function in a thread, and return a function that returns its result or raises its exception."""
    pool = ThreadPoolExecutor(1)
    result = pool.submit(work).result
    pool.shutdown(wait=False)
    return result


def test_a_page_waits_for_the_slot_that_becomes_free(threads):
    held = [threads.pages.take(each) for each in "aabb"]
    waiting = in_thread(lambda: threads.pages.begin("192.0.2.7"))
    until(lambda: threads.pages._waiting)
    threads.pages.end(held[0])
    threads.pages.end(waiting(10))
    assert threads.pages.in_use == 3


def test_a_page_without_a_slot_is_refused_in_time(threads, monkeypatch):
    monkeypatch.setattr(thread_slots, "PAGE_SECONDS", 0.01)
    for each in "aabb":
        threads.pages.take(each)
    with pytest.raises(Busy, match="slots for pages"):
        threads.pages.begin("192.0.2.7")
    assert not threads.pages._waiting


def test_the_client_with_most_pages_makes_room_for_another_one(threads):
    held = [threads.pages.take(each) for each in ("192.0.2.1", "192.0.2.1", "b", "b")]
    first = in_thread(lambda: threads.pages.begin("192.0.2.1"))
    until(lambda: len(threads.pages._waiting) == 1)
    second = in_thread(lambda: threads.pages.begin("192.0.2.1"))
    until(lambda: len(threads.pages._waiting) == 2)
    other = in_thread(lambda: threads.pages.begin("192.0.2.7"))
    with pytest.raises(Busy):
        second(10)
    with pytest.raises(Busy):
        threads.pages.begin("192.0.2.1")
    for page in held:
        threads.pages.end(page)
    for waiting in (first, other):
        threads.pages.end(waiting(10))


def test_a_page_that_no_server_has_closed_ends_with_the_next_one_of_its_thread(threads):
    page = threads.pages.begin("a")
    assert threads.pages.begin("b") is page
    threads.pages.end(page)
    assert threads.pages.in_use == 0


def test_a_page_is_closed_without_the_lock(threads):
    page = threads.pages.begin("a")
    with threads.pages._lock:
        # As the garbage collector does in a thread that holds the lock.
        page.is_open = False
    assert threads.pages.in_use == 0


def test_a_page_that_waits_gets_the_slot_of_one_that_is_closed_without_the_lock(threads, monkeypatch):
    monkeypatch.setattr(thread_slots, "PAGE_SECONDS", 0)
    threads.use(1)
    first = threads.pages.take("a")
    enqueue = threads.pages._enqueue

    def close_first(page):
        enqueue(page)
        first.is_open = False

    monkeypatch.setattr(threads.pages, "_enqueue", close_first)
    assert threads.pages.begin("b") is not None
    assert threads.pages.in_use == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_all_slots_of_pages():
    threads = ThreadSlots()
    threads.use(2)

    def work() -> None:
        assert threads.pages.in_use == 0
        assert threads.pages.begin("b") is not page

    page = threads.pages.begin("a")
    assert exit_code(work) == 0
    assert threads.pages.in_use == 1


# The number of threads ------------------------------------------------------------------------------------------------


@pytest.fixture
def without_servers(monkeypatch):
    for name in ("uwsgi", "mod_wsgi", "gunicorn.workers.base", "waitress.adjustments"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.usefixtures("without_servers")
def test_the_number_is_eight_if_the_server_is_unknown():
    assert ThreadSlots().number == DEFAULT == 8


@pytest.mark.usefixtures("without_servers")
@pytest.mark.parametrize(
    ("name", "attributes", "number"),
    [
        pytest.param("uwsgi", {"opt": {"threads": b"6"}}, 6, id="uwsgi"),
        pytest.param("uwsgi", {"opt": {}}, 1, id="uwsgi-without-threads"),
        pytest.param("uwsgi", {"opt": {"threads": b"many"}}, 8, id="uwsgi-not-a-number"),
        pytest.param("mod_wsgi", {"threads_per_process": 15}, 15, id="mod_wsgi"),
        pytest.param("mod_wsgi", {}, 8, id="mod_wsgi-of-another-version"),
    ],
)
def test_the_module_of_a_server_states_its_threads(monkeypatch, name, attributes, number):
    module = types.ModuleType(name)
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, name, module)
    assert ThreadSlots().number == number


class Worker:
    def __init__(self, pid: object, threads: int = 1, worker_connections: int = 1000) -> None:
        self.pid = pid
        self.cfg = types.SimpleNamespace(threads=threads, worker_connections=worker_connections)


class SyncWorker(Worker):
    pass


class ThreadWorker(Worker):
    pass


class GeventWorker(Worker):
    pass


class UvicornWorker(Worker):
    pass


@pytest.mark.usefixtures("without_servers")
@pytest.mark.parametrize(
    ("worker", "number"),
    [(ThreadWorker, 5), (SyncWorker, 1), (GeventWorker, 1000), (UvicornWorker, 8)],
)
def test_the_worker_of_gunicorn_in_this_process_states_its_threads(monkeypatch, worker, number):
    module = types.ModuleType("gunicorn.workers.base")
    module.Worker = Worker  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gunicorn.workers.base", module)
    kept = [ThreadWorker("[booting]", 3), worker(os.getpid(), 5), ThreadWorker(os.getpid() + 1, 4)]
    assert ThreadSlots().number == number
    del kept


def test_waitress_states_its_threads():
    waitress_adjustments = pytest.importorskip("waitress.adjustments")
    kept = waitress_adjustments.Adjustments(threads=5000)
    assert ThreadSlots().number == 5000
    del kept


def test_a_setting_has_priority_over_the_server(monkeypatch):
    monkeypatch.setattr(thread_slots, "_threads_of_server", lambda: 4)
    threads = ThreadSlots()
    assert threads.number == 4
    threads.use(12)
    assert threads.number == 12
    threads.use(None)
    assert threads.number == 4
